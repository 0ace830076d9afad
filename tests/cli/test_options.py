"""Priors and deployment priors as written on the command line."""

from command_runs import run
from loops import each
from messages import exact, expect_error

from skewanova.cli.options import parse_deployment_prior, parse_prior, parse_priors
from skewanova.priors.weightings import BetaPrior, UniformPrior, UniformSkew


@each(("text", "weighting"), [
    ("0.05:0.20", UniformPrior(0.05, 0.2)), (" 5e-2 : 0.2 ", UniformPrior(0.05, 0.2)),
    ("0.1", UniformPrior(0.1, 0.1)), ("skew:4:19", UniformSkew(4, 19)), ("beta:2:30", BetaPrior(2, 30)),
    ("quantiles:0.05=0.02:0.95=0.15", BetaPrior.from_quantiles({0.05: 0.02, 0.95: 0.15})),
])  # fmt: skip
def test_parse_deployment_prior(text, weighting):
    assert parse_deployment_prior(text) == weighting


def test_quantiles_of_one_share_twice():
    message = "the shares of `quantiles` must be different, but got 0.5=0.1:0.5=0.2"
    expect_error(exact(message), parse_deployment_prior, "quantiles:0.5=0.1:0.5=0.2")


@each("text", [
    *("", "0.1:0.2:0.3", "skew:4", "skew:4:19:20", "gamma:1:2", "a:b"),
    *("quantiles:0.05:0.95=0.1", "quantiles:0.05=x:0.95=0.1", "5:20%", "100%", "50%=10%", "skew:5%:20%"),
])  # fmt: skip
def test_deployment_prior_of_another_form(text):
    message = (
        "a deployment prior must be LOW:HIGH, one prior, skew:LOW:HIGH, beta:A:B or "
        f"quantiles:SHARE=PRIOR:SHARE=PRIOR, but got {text!r}"
    )
    expect_error(exact(message), parse_deployment_prior, text, error=ValueError)


@each(("text", "remedies"), [
    ("5:20", ("skew:5:20", "0.05:0.2")), ("4:19", ("skew:4:19", "0.04:0.19")),
    ("20:5", ("skew:5:20", "0.05:0.2")), ("1:20", ("skew:1:20", "0.01:0.2")), ("50:150", ["skew:50:150"]),
])  # fmt: skip
def test_ranges_of_skews_or_of_percentages_are_written_as_such(text, remedies):
    expect_error(f"but got '{text}'; did you mean {', or '.join(remedies)}[?]$", parse_deployment_prior, text)
    for remedy in remedies:
        parse_deployment_prior(remedy)


def test_parse_priors_and_a_poor_fit_of_quantiles(tmp_path):
    assert parse_priors("0.5, 0.1,1e-2") == (0.5, 0.1, 0.01)
    for text in ("", "0.5,", "0.5;0.1", "half"):
        message = f"priors must be numbers as in 0.5,0.1 but got {text!r}"
        expect_error(exact(message), parse_priors, text)
    expect_error(exact("`priors` must lie strictly between 0 and 1, but got 0"), parse_priors, "0.5,0")
    assert parse_prior(" 0.1") == 0.1
    message = "`priors` must be one number, as 0.1, but got '0.1,0.2'; a range is for --deployment-prior"
    expect_error(exact(message), parse_prior, "0.1,0.2", error=ValueError)
    path = tmp_path / "scores.csv"
    path.write_text("model,y_true,y_score\n" + "".join(f"{m},{i % 2},{i}\n" for m in "AB" for i in range(40)))
    stated = ["intervals", path, "--deployment-prior", "quantiles:0.05=0.02:0.5=0.08:0.95=0.15"]
    done = run(*stated)
    assert (done.exit_code, done.stderr.startswith("warning: the closest beta distribution")) == (0, True)
    assert "state two of them" in done.stderr
    assert run(*stated, "-q").stderr == ""
    refused = run("intervals", path, "--method", "cross_validation")
    assert (refused.exit_code, "'cross_validation' is not one of 'auto'" in refused.stderr) == (2, True)

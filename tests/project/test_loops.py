import pytest
from loops import each
from messages import expect_error


def test_every_case_is_tried_unless_an_error_of_another_kind_ends_the_loop():
    tried = []

    @each(("low", "high"), [(1, 2), pytest.param(4, 3, id="turned"), (5, 6), (8, 7)])
    def test(low, high):
        tried.append(low)
        assert low < high

    expect_error(r"'low': 4, 'high': 3(.|\n)*'low': 8, 'high': 7", test, error=AssertionError)
    assert tried == [1, 4, 5, 8]
    with pytest.raises(ZeroDivisionError):
        each("value", [1, 0])(lambda value: 1 / value)()


@each("second", "cd")
@each("first", "ab")
def test_loops_stand_within_loops_and_take_fixtures(first, second, tmp_path):
    assert tmp_path.is_dir()
    assert first < second

"""Reports: tables, sentences and figures of a comparison.

- document: The HTML page.
- figures: Every figure by name: drawing, files, what its caption adds.
- folder: The output folder of a comparison.
- methods: Methods ready to paste, with references and BibTeX.
- parts: Tables, page and folder across data sets and of several classes.
- publication: Rows and columns of a table for a paper, and LaTeX.
- rendering: Figures as bytes and inline SVG.
- sentences: Sentences about frames, and a paragraph of results.
- source: Source of a report: the frames and settings of a comparison.
- tables: Every table of a comparison, by name.
- verdict_text: The sentences of a verdict.
"""

"""What was found, in tables, words and pictures.

- classes: Tables, page and folder of several classes.
- datasets: Tables, page and folder across data sets.
- document: The HTML page.
- figures: Every figure by name: drawing, caption, files.
- findings: What was found in one paragraph for a paper.
- folder: The output folder of a comparison.
- latex: LaTeX that aligns numbers and fits a page.
- methods: Methods ready to paste, with references and BibTeX.
- parts: Folder and page of a comparison in several parts: data sets, or classes.
- publication: A table chosen and written as text, Markdown, LaTeX or HTML.
- rendering: Figures as bytes and inline SVG.
- sentences: Sentences about frames.
- slider: What the page says of one prior, which its reader moves.
- source: What a report is made of.
- tables: Every table of a comparison, by name.
- verdict_text: The sentences of a verdict.
"""

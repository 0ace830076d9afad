"""Reports of comparisons: sentences, tables, figures, an HTML page and output folders.

- charts: Line charts of the page as SVG.
- document: HTML pages and output folders, also of several data sets or classes.
- figures: Every figure of a comparison by name, and its files.
- operating_tables: Tables of operating points, and of the thresholds that were chosen.
- pairs_verdict: The sentences of a verdict from tests of pairs alone: data sets, classes, any measure.
- publication: Results, methods, table, figure and references for a paper.
- screen: The first screen of the page: charts along the prior, and the table that follows the slider.
- sentences: Sentences about frames, and the results paragraph for a paper.
- source: The frames and settings of a comparison, from which a report is made.
- tables: Every table of a comparison by name.
- verdict_text: The sentences of a verdict.
"""

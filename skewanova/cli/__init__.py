"""The command ``skewanova``: arguments to calls, nothing else.

- commands: The command ``skewanova``: arguments to calls, and nothing else.
- options: What the commands share: options, reading of the tables, and errors in one line.
- output: What the commands print: colours, progress, JSON; what they write.
"""

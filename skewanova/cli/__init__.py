"""The command ``skewanova``: arguments to calls, nothing else.

- commands: The command ``skewanova``: arguments to calls, and nothing else.
- options: Options that commands share, reading of the tables, and errors in one line.
- output: Output of the commands: colours, progress, JSON, folders.
"""

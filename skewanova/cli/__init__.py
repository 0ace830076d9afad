"""The command ``skewanova``: arguments to calls, nothing else.

- commands: The command ``skewanova``: arguments to calls, and nothing else.
- estimates: A deployment prior that is estimated once the table is read.
- options: What the commands share: options, how they are read, and how bad input is told.
- output: What the commands print: colours, progress, JSON.
- priors: The commands ``prior`` and ``monitor``.
"""

"""Sanitize a column of a pandas frame, by the accessor of the frame and by that of the column.

pip install ./runtime './cli[pandas]'
"""

import pandas
import textveil_cli.integrations.pandas  # noqa: F401 - makes the accessors

tickets = pandas.DataFrame({"note": ["The printer is broken again.", None, "My invoice is wrong."], "stars": [2, 5, 1]})

print(tickets.textveil.sanitize("note"))
print(tickets["note"].textveil.sanitize(protect="words", epsilon=6))

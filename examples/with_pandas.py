"""A column of a pandas frame, as a function and as an accessor.

pip install './runtime[pandas]'
"""

import pandas
from textveil.integrations.pandas import sanitize

tickets = pandas.DataFrame({"note": ["The printer is broken again.", None, "My invoice is wrong."], "stars": [2, 5, 1]})

print(tickets.assign(note=sanitize(tickets["note"])))
print(tickets["note"].textveil.sanitize(level="strong"))

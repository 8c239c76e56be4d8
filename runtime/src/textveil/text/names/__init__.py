"""Mode ``names``: keeps words of a public list and replaces all others.

Each replaced string gets a surrogate of its type, and the draw of a surrogate never reads the original. ``chunks`` cuts
a text into tokens. ``places`` decides which tokens are kept and which form one slot, ``kinds`` assigns the type of each
slot, and ``rewrite`` draws and writes the surrogates.
"""

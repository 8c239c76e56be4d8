"""Mode ``names``: leaves words of public word lists unchanged in a text, and replaces all other words.

A replacement is called a *surrogate*. The random choice of a surrogate, a *draw*, never depends on the original string.
The mode reads a text in three passes. In pass 1, ``tokenizer`` splits a text into tokens. In pass 2, ``spans`` decides
which tokens stay unchanged, and which tokens form one span (the tokens of one entity). In pass 3, ``entity_types``
assigns a type to each span: the result is a *mention*. Then ``rewrite`` draws the surrogates and writes the output.
``plan`` holds the options of a call, and creates the objects that do this work.
"""

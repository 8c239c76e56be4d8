# make check is exactly what CI runs.
.PHONY: check lint test bundle results

check:
	bash .ci/run

lint:
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

test:
	.venv/bin/pytest -q -n 2 --dist loadfile

# Rebuild the default bundle (about half an hour); see artifacts/README.md.
bundle:
	.venv/bin/textveil-export table --vocabulary english --name "English words, version 2" -k 60 --certified-epsilon 7,8,9,10,11,12.5 --certified-epsilon-capped 9,11,12.5,13.5,14,15.5 --force -o artifacts/english-v2

# Runs the commands in the documents and writes what they print below them; docs-check runs none of them.
.PHONY: docs docs-check
docs:
	.venv/bin/python docs/build.py

docs-check:
	.venv/bin/python docs/build.py --check
	.venv/bin/python docs/prose.py
	.venv/bin/python docs/proofs/record.py
# Rewrite the generated tables and pictures of docs/results from the stored records; needs requirements-dev.txt.
results:
	.venv/bin/python benchmarks/report/write.py

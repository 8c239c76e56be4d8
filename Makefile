# make check is exactly what CI runs.
.PHONY: check lint test bundle

check:
	bash .ci/run

lint:
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

test:
	.venv/bin/pytest

# Rebuild the default bundle (about a minute); see artifacts/README.md.
bundle:
	.venv/bin/textveil-export table --vocabulary english --name "English words, version 1" --force -o artifacts/english-v1

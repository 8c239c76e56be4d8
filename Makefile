.PHONY: check lint test full nightly fuzz mutants integrations lock wheels site bundle results docs docs-check sbom release-check browser names prompts

# Commands that tests start would compile every module again if Python wrote no bytecode.
PYTEST = env -u PYTHONDONTWRITEBYTECODE .venv/bin/pytest -q -n 2 --dist loadfile
RESULTS = benchmarks/results
EXTRAS = presidio spacy datasets pandas langchain agents mcp serve gateway telemetry
# What is installed and tested for an extra, where it is not the extra alone and tests/cli/integrations.
INSTALLED_telemetry = gateway,telemetry
TESTS_serve = tests/cli/serve
TESTS_gateway = tests/cli/gateway
TESTS_telemetry = tests/cli/gateway/test_telemetry.py
CLIENTS = openai anthropic langchain-openai langchain-anthropic cryptography
NODE_CLIENTS = ai@6 @ai-sdk/openai@3 @ai-sdk/anthropic@3

# Before each commit, in the existing environment: lint with the types of changed files, and the tests that take moments,
# at most 16 cases of each. `bash .ci/run` decides on a push.
check:
	.ci/lint changed
	$(PYTEST) --hypothesis-profile quick --most-cases 16 -m "not full and not slow and not statistical"

lint:
	.ci/lint

# The default run: the README's second command, without the installation; about a quarter of an hour of processor time.
test:
	$(PYTEST)

# The default run and what is too long for it; random search is `make fuzz`.
full:
	{ date -u +%F; git rev-parse HEAD; $(PYTEST) --hypothesis-profile full -m "full or not full" --durations 20; } > $(RESULTS)/full.txt; tail -n 1 $(RESULTS)/full.txt

# Everything that a push does not wait for: all tests, every Python on this machine, 200,000 texts in both languages, the
# page in a browser, the mutants and each extra in its own environment. Hours on two cores.
nightly: full
	.ci/each-python all
	TEXTS=200000 .ci/web
	.ci/browser
	$(MAKE) mutants integrations

# Random examples, many of them: never the same twice.
fuzz:
	$(PYTEST) --hypothesis-profile fuzz -m hypothesis

# Changes the code that privacy rests on, one place at a time: which changes does no test see? Up to two hours on two cores.
mutants:
	test -x .envs/mutants/bin/cosmic-ray || { python3 -m venv .envs/mutants && .envs/mutants/bin/pip install -q cosmic-ray; }
	.envs/mutants/bin/python tests/mutation/run.py

# The wheel with each extra in an environment of its own, with the versions that pip chooses today. .envs/ has them.
integrations: $(EXTRAS:%=integration-%) integration-ray

integration-%:
	python3 -m venv .envs/$*
	.envs/$*/bin/pip install -q ./runtime './cli[$(or $(INSTALLED_$*),$*)]' pytest hypothesis safetensors $(if $(filter presidio,$*),presidio-analyzer) $(if $(filter gateway,$*),$(CLIENTS))
	$(if $(filter gateway,$*),command -v npm > /dev/null && npm install --silent --prefix .envs/gateway $(NODE_CLIENTS) || echo "the AI SDK is not there: its test is skipped")
	.envs/$*/bin/python -m pytest -q -m "full or not full" $(or $(TESTS_$*),tests/cli/integrations/test_$**.py)

# The wheels of the server with Ray, on a cluster of two nodes on this machine.
integration-ray:
	python3 -m venv .envs/ray
	.envs/ray/bin/pip install -q $$(grep '^torch==' requirements-dev.in) ./runtime ./cli './export[ray]' './server_training[ray]' pytest hypothesis
	.envs/ray/bin/python -m pytest -q -m "full or not full" tests/export/cluster

# Writes requirements-dev.txt anew: the versions that pip chooses today for requirements-dev.in.
lock:
	rm -rf .lock && python3 -m venv .lock
	.lock/bin/pip install -q -r requirements-dev.in
	! .lock/bin/pip freeze | grep -i nvidia # the CPU build of torch
	{ echo "# Everything needed to build, test and check all four distributions, pinned by \`make lock\` from requirements-dev.in"; \
	echo "# for Python 3.11 on Linux."; \
	grep -E '^(torch==|-e )' requirements-dev.in; \
	.lock/bin/pip freeze --exclude-editable | sed 's/+.*//' | grep -v '^torch=='; } > requirements-dev.txt
	rm -rf .lock

# Builds wheels and source distributions of all four into dist/, checks them, and runs the command on each Python there is.
wheels:
	bash .ci/wheels

# Rebuild SanText's English tables (about half an hour), and over their words the default bundle; see artifacts/README.md.
bundle:
	.venv/bin/textveil-export table --mechanisms santext --name "English words, SanText, version 3" -k 60 --certified-epsilon 7,8,9,10,11,12.5 --force -o artifacts/english-santext
	.venv/bin/textveil-export staircase artifacts/english-santext --name "English words, version 4" --force -o artifacts/english-v4

# Draws the pictures of the architecture and of README.md, runs the commands in the documents and writes what they print
# below them; docs-check runs none of them. The pictures of docs/guides/changes.md are taken in Chromium, by
# docs/pictures/photograph.py, if their pages have changed.
docs:
	.venv/bin/python docs/architecture.py
	.venv/bin/python docs/pictures/draw.py
	.venv/bin/python docs/build.py

docs-check:
	.venv/bin/python docs/architecture.py --check
	.venv/bin/python docs/pictures/draw.py --check
	.venv/bin/python docs/pictures/photograph.py --check
	.venv/bin/python docs/build.py --check
	.venv/bin/python docs/proofs/record.py

# The page and the examples of web/ in a real Chromium, the page in Firefox and WebKitGTK too, where these are installed.
browser:
	.ci/browser

# The documentation as a site, in .site/html/VERSION; a broken link fails. The first run installs mkdocs into .site/venv,
# an environment of its own: nothing of this repository is installed or imported. The page to try is in it, in demo, where
# the package in web/ is built.
site:
	test -x .site/venv/bin/mkdocs || { python3 -m venv .site/venv && .site/venv/bin/pip install -q -r docs/site/requirements.txt; }
	if [ -f web/dist/textveil.js ]; then node web/demo/build.mjs; else echo "without the page to try: npm ci && npm run build in web/"; fi
	version=$$(.site/venv/bin/python docs/site/collect.py) && \
	NO_MKDOCS_2_WARNING=1 TEXTVEIL_HTML="../../.site/html/$$version" \
	.site/venv/bin/mkdocs build --strict -q -f docs/site/mkdocs.yml

# The bill of materials of the runtime and its command, and the hashes of what they depend on, by tools in an environment
# of their own. Of the extras, those that are parts of them: a library that textveil is put into is its user's.
sbom:
	rm -rf .lock && python3 -m venv .lock/tools && python3 -m venv .lock/runtime
	.lock/tools/bin/pip install -q cyclonedx-bom pip-tools
	.lock/runtime/bin/pip install -q './runtime[encoder,crypto]' './cli[serve,gateway,parquet,zstd]'
	.lock/tools/bin/cyclonedx-py environment .lock/runtime/bin/python --output-format JSON --output-reproducible -o .lock/sbom.json
	.lock/tools/bin/python docs/sbom.py .lock/sbom.json docs/sbom.json
	.lock/runtime/bin/pip freeze --exclude textveil --exclude textveil-cli > .lock/requirements.in
	.lock/tools/bin/pip-compile -q --generate-hashes --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-header --no-annotate --strip-extras -o runtime/requirements-hashes.txt .lock/requirements.in
	rm -rf .lock

# Everything that has to hold before a release; the file is the list.
release-check:
	.ci/release-check

# What the mode names is worth, beside detectors: all of docs/results/names.md. `make names DATA=FOLDER GGUF=FILE` takes
# hours, and run.py goes on where it was stopped. Needs the packages of the page's first paragraphs, and a model to read.
names:
	test -n "$(DATA)" -a -n "$(GGUF)" # make names DATA=FOLDER GGUF=FILE
	.venv/bin/python benchmarks/names/fetch.py
	.venv/bin/python benchmarks/names/run.py --data $(DATA) --sets made-up posts
	.venv/bin/python benchmarks/names/run.py --data $(DATA) --sets tweets web news wiki filings clinical --limit 100
	.venv/bin/python benchmarks/names/run.py --data $(DATA) --sets court --limit 8
	.venv/bin/python benchmarks/names/utility.py --data $(DATA)
	for row in surrogates corpus tags words; do \
	.venv/bin/python benchmarks/names/utility.py --data $(DATA) --rewrite names.rewriters:$$row --name $$row || exit 1; done
	.venv/bin/python benchmarks/names/restored.py --data $(DATA)
	.venv/bin/python benchmarks/readability.py $(GGUF) --data $(DATA) --draws 3
	.venv/bin/python benchmarks/names/pool_sizes.py $(GGUF) --data $(DATA)
	.venv/bin/python benchmarks/names/speed.py --data $(DATA)
	$(MAKE) results

# What stays of private prompts, and what changes: the measured parts of docs/results/prompts.md. `make prompts DATA=FOLDER`
# takes a quarter of an hour, with the packages of benchmarks/README.md beside textveil; verdicts need a reader.
prompts:
	test -n "$(DATA)" # make prompts DATA=FOLDER
	.venv/bin/python benchmarks/prompts/measure.py --data $(DATA)
	$(MAKE) results

# Rewrite the generated tables and pictures of docs/results from the stored records; needs requirements-dev.txt.
results:
	.venv/bin/python benchmarks/report/write.py

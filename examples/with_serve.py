"""A client of the local service, with nothing but the standard library.

    pip install ./runtime './cli[serve]'

It starts the service on a free port, asks it, and ends it. A program of yours would find it running.
"""

import json
import re
import subprocess
import sys
import urllib.request

command = [sys.executable, "-m", "textveil", "serve", "--port", "0"]
service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
address = re.search(r"http://\S+(?=;)", service.stderr.readline())[0]
try:
    request = urllib.request.Request(
        f"{address}/sanitize",
        json.dumps({"texts": ["My doctor in Boston said the biopsy was clean.", "The invoice is wrong."]}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        for result in json.load(answer)["results"]:
            print(result["text"])
            print("  epsilon per randomized word:", result["statement"]["epsilon_per_word"])
finally:
    service.terminate()

"""Call the local service with the standard library alone.

    pip install ./runtime './cli[serve]'

This script starts the service on a free port, sends a request, and stops it. Other programs would call a running one.
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
            print(" ", result["statement"]["line"])
finally:
    service.terminate()

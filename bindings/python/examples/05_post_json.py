# SPDX-License-Identifier: Apache-2.0
"""Sends JSON with a token from the environment, and prints what came back.

    TOKEN=abc python3 05_post_json.py https://e.example/api '{"name": "x"}'
"""
import json
import os
import sys

import seine

headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["TOKEN"]}
r = next(seine.fetch(sys.argv[1], data=sys.argv[2], header=headers, body=True)).raise_for_error()
print(r.status, json.loads(r.text))

import os

import requests

headers = {"X-Service-Key": os.environ["SERVICE_KEY"], "x-api-key": "sk-ant-test", "anthropic-version": "2023-06-01"}
body = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 100,
    "stream": True,
    "messages": [{"role": "user", "content": os.environ["PROMPT"]}],
}
url = os.environ["BASE_ANTHROPIC"] + "/v1/messages"
with requests.post(url, json=body, headers=headers, stream=True, timeout=60) as response:
    response.raise_for_status()
    for line in response.iter_lines():
        print(line.decode())

import http.client
import json
import os
from urllib.parse import urlsplit

base = urlsplit(os.environ["BASE_OPENAI"])
connection = http.client.HTTPConnection(base.hostname, base.port)
body = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": os.environ["PROMPT"]}]})
headers = {
    "X-Service-Key": os.environ["SERVICE_KEY"],
    "Authorization": "Bearer sk-test",
    "Content-Type": "application/json",
}
connection.request("POST", base.path + "/v1/chat/completions", body, headers)
response = connection.getresponse()
assert response.status == 200, response.status
print(json.load(response)["choices"][0]["message"]["content"])

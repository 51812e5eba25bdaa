import os

from anthropic import Anthropic

client = Anthropic(
    base_url=os.environ["BASE_ANTHROPIC"],
    api_key="sk-ant-test",
    default_headers={"X-Service-Key": os.environ["SERVICE_KEY"]},
)
request = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": os.environ["PROMPT"]}],
}
print(client.messages.create(**request).content[0].text)
with client.messages.stream(**request) as stream:
    for text in stream.text_stream:
        print(text)

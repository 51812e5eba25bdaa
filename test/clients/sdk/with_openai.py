import os

from openai import OpenAI

client = OpenAI(
    base_url=os.environ["BASE_OPENAI"] + "/v1",
    api_key="sk-test",
    default_headers={"X-Service-Key": os.environ["SERVICE_KEY"]},
)
prompt = os.environ["PROMPT"]
messages = [{"role": "user", "content": prompt}]
chat = client.chat.completions.create(model="gpt-4o-mini", messages=messages)
print(chat.choices[0].message.content)
for chunk in client.chat.completions.create(model="gpt-4o-mini", messages=messages, stream=True):
    print(chunk.choices[0].delta.content)
for event in client.responses.create(model="gpt-4o-mini", input=prompt, stream=True):
    if event.type == "response.completed":
        print(event.response.usage.output_tokens)

import os

from google import genai

client = genai.Client(
    api_key="AIza-test",
    http_options={
        "base_url": os.environ["BASE_GOOGLE"],
        "headers": {"X-Service-Key": os.environ["SERVICE_KEY"]},
    },
)
request = {"model": "gemini-2.5-flash", "contents": os.environ["PROMPT"]}
print(client.models.generate_content(**request).text)
for chunk in client.models.generate_content_stream(**request):
    print(chunk.text)

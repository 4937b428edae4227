# Says something to the model at the address that is given, or asks it; fails where an answer is not what it should be.
import os
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key=os.environ.get("MEMORY_TEST_CLIENT_KEY", "sk-own"), max_retries=0, timeout=60)


def user(text):
    return [{"role": "user", "content": text}]


def text(stream):
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


if sys.argv[2] == "say":
    said = user("My dog is called Rex.")
    heard = text(client.chat.completions.create(model="m", messages=said, stream=True, extra_body={"memory_id": "talk"}))
    assert heard == "Nice to meet you, 世界.", heard
    sys.exit()

own = {"memory_id": "talk", "memory_top_k": 1}
answer = client.chat.completions.create(model="m", messages=user("What is my dog called?"), tools=[], extra_body=own)
assert answer.choices[0].message.content.endswith("Current message:\nWhat is my dog called?"), answer
assert answer.memory_hits[0]["content"] == "My dog is called Rex.", answer
assert answer.usage.total_tokens == 7, answer
assert [model.id for model in client.models.list()] == ["m"]
for model, expected in [("busy", openai.RateLimitError), ("gone", openai.InternalServerError)]:
    try:
        client.chat.completions.create(model=model, messages=user("x"))
        sys.exit(f"{model}: no error")
    except expected:
        pass
try:
    text(client.chat.completions.create(model="broken", messages=user("x"), stream=True))
    sys.exit("broken: no error")
except Exception:
    pass

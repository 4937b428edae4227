// Says something to the model at the address that is given, or asks it; fails where an answer is not what it should be.
import assert from 'node:assert'

import OpenAI from 'openai'

const [url, what] = process.argv.slice(-2)
const client = new OpenAI({ baseURL: url, apiKey: process.env.MEMORY_TEST_CLIENT_KEY ?? 'sk-own', maxRetries: 0, timeout: 60000 })
const user = (content) => [{ role: 'user', content }]

const text = async (stream) => {
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? ''
  return text
}

if (what === 'say') {
  const said = { model: 'm', messages: user('My dog is called Rex.'), stream: true, memory_id: 'talk' }
  assert.equal(await text(await client.chat.completions.create(said)), 'Nice to meet you, 世界.')
  process.exit()
}
const question = { model: 'm', messages: user('What is my dog called?'), tools: [], memory_id: 'talk', memory_top_k: 1 }
const answer = await client.chat.completions.create(question)
assert.match(answer.choices[0].message.content, /Current message:\nWhat is my dog called\?$/)
assert.equal(answer.memory_hits[0].content, 'My dog is called Rex.')
assert.equal(answer.usage.total_tokens, 7)
const models = []
for await (const model of client.models.list()) models.push(model.id)
assert.deepEqual(models, ['m'])
const refused = (model, stream) => client.chat.completions.create({ model, stream, messages: user('x') })
await assert.rejects(refused('busy'), (error) => error.status === 429)
await assert.rejects(refused('gone'), OpenAI.InternalServerError)
await assert.rejects(async () => text(await refused('broken', true)))

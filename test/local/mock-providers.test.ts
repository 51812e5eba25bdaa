import { expect, it } from '@jest/globals';
import { startMockProviders } from '../../local/mock/providers.ts';

it('responds to a request with a tool of the type custom, as some agents have', async () => {
  const mock = await startMockProviders();
  try {
    const response = await fetch(`${mock.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-test' },
      body: JSON.stringify({
        model: 'gpt-4o',
        messages: [{ role: 'user', content: 'Hello' }],
        tools: [{ type: 'custom', custom: { name: 'shell' } }],
      }),
    });
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ model: 'gpt-4o' })]);
  } finally {
    await mock.stop();
  }
});

import { type Client, HEADER, PROMPT, shellKey } from './sdk.ts';

const chatBody = ({ model }: Client) => JSON.stringify({ model, messages: [{ role: 'user', content: PROMPT }] });

export const curlLike =
  (path: string, credential: (client: Client) => string, body: (client: Client) => string = chatBody) =>
  (client: Client) =>
    `
+ curl ${client.url}${path} \\
+   -H '${HEADER}: ${client.serviceKey}' \\
  -H "${credential(client)}" \\
  -H 'Content-Type: application/json' \\
  -d '${body(client)}'`;

export const bearer = (client: Client) => `Authorization: Bearer ${shellKey(client)}`;

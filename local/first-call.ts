import { randomInt } from 'node:crypto';

/** Keeps the two values of a session in the shell, without jq. */
const SESSION = `sed 's/.*"accountId":"\\([^"]*\\)".*"token":"\\([^"]*\\)".*/KEY=\\1 TOKEN=\\2/'`;
const JSON_BODY = "-H 'content-type: application/json'";

/** Three lines for a shell: register, make a tracked call, read what it cost. The address is new each time: no one is registered twice. */
export const firstCall = (url: string, options: { readonly mock: boolean }): string[] => {
  const user = {
    email: `ada.${randomInt(1000, 10_000)}@example.com`,
    password: 'Correct-Horse-7-Battery',
    firstName: 'Ada',
    lastName: 'Lovelace',
  };
  const call = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] };
  const credential = options.mock ? 'any' : '$OPENAI_API_KEY';
  return [
    `export $(curl -s ${url}/api/auth/register ${JSON_BODY} -d '${JSON.stringify(user)}' | ${SESSION})`,
    `curl -s ${url}/gateway/openai/v1/chat/completions -H "X-Service-Key: $KEY" -H "Authorization: Bearer ${credential}" ${JSON_BODY} -d '${JSON.stringify(call)}'`,
    `curl -s "${url}/api/spend?groupBy=model" -H "Authorization: Bearer $TOKEN"`,
  ];
};

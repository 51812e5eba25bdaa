import type { z } from 'zod';

/** Calls the dashboard API, with POST when there is a body. @throws Error with the response when the status is not 2xx */
export const callApi = async <T>(
  url: string,
  schema: z.ZodType<T>,
  token: string | undefined,
  body?: unknown,
): Promise<T> => {
  const response = await fetch(url, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return schema.parse(await response.json());
};

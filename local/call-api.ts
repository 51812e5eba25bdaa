import type { z } from 'zod';

/** Asks the dashboard API; with a body by POST. @throws Error with its answer where it refuses */
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

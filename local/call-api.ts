import { z } from 'zod';

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

const sessionSchema = z.object({ accountId: z.string(), token: z.string() });

/** Registers an account over the dashboard API. */
export const register = (url: string): Promise<z.infer<typeof sessionSchema>> =>
  callApi(`${url}/api/auth/register`, sessionSchema, undefined, {
    email: 'ada@example.com',
    password: 'Correct-Horse-7-Battery',
    firstName: 'Ada',
    lastName: 'Lovelace',
    companyName: 'Analytical Engines',
  });

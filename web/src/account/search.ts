import { oneOf, searchOf, text } from '../search.ts';

/** The path to open after signing in, why the user has to sign in, and the address. */
export const signInSearch = searchOf({
  next: text,
  reason: oneOf(['expired', 'signedOut', 'passwordChanged', 'emailChanged', 'joined']),
  email: text,
});

/** The page to open after signing in. Only a path of this site: `next` may come from a malicious link. */
export const nextOf = (search: object): string => {
  const next = 'next' in search ? search.next : undefined;
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) ? next : '/';
};

/** Parameters with which an identity provider leads back. @see https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2 */
export const signOnCallbackSearch = searchOf({ code: text, state: text, error: text, error_description: text });

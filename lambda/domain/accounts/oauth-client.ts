/** A program as it described itself when it registered. */
export interface OAuthClient {
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/** Codes go to a server with a certificate, to the machine of the browser (RFC 8252), or to the editor that has this scheme. */
export const redirectPattern = /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]|cursor:\/\/)/;

/**
 * A client's id is its registration, and nothing is stored: whoever may register may as well write an id.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7591#appendix-A.5.2
 */
export const clientIdOf = ({ name, redirectUris }: OAuthClient): string =>
  btoa(new URLSearchParams([['name', name], ...redirectUris.map((uri): [string, string] => ['uri', uri])]).toString());

export const clientWith = (clientId: string): OAuthClient | undefined => {
  try {
    const said = new URLSearchParams(atob(clientId));
    const redirectUris = said.getAll('uri').filter((uri) => redirectPattern.test(uri) && URL.canParse(uri));
    const name = said.get('name') ?? '';
    return redirectUris.length === 0 || !/^.{1,64}$/u.test(name) ? undefined : { name, redirectUris };
  } catch {
    return undefined;
  }
};

/** A program on the reader's machine takes the port that is free. @see https://www.rfc-editor.org/rfc/rfc8252#section-7.3 */
const withoutPort = (uri: string): string => uri.replace(/^(http:\/\/(?:\w[\w.]*|\[::1\])):\d+/, '$1');

export const mayReturnTo = ({ redirectUris }: OAuthClient, uri: string): boolean =>
  URL.canParse(uri) && redirectUris.map(withoutPort).includes(withoutPort(uri));

import type { Provider } from '../../domain/providers.ts';

/**
 * The path and query for the provider: the client's bytes, neither decoded nor normalised (dots, slashes).
 *
 * It never names a host. An absolute-form target (RFC 9112 section 3.2.2) loses its scheme and authority, and the rest
 * always begins with a slash. `*` (asterisk-form) is forwarded as `/*`.
 */
export const upstreamTarget = (target: string, provider: Provider): string => {
  let path = target;
  if (!path.startsWith('/')) {
    const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(path);
    if (absolute) path = path.slice(absolute[0].length);
    if (!path.startsWith('/')) path = `/${path}`;
  }
  const { prefix } = provider;
  if (prefix === '') return path;
  const rest = path.startsWith(prefix) ? path[prefix.length] : 'x';
  return rest === undefined || rest === '/' || rest === '?' ? path : prefix + path;
};

/** The target without its query string, which is never stored. */
export const pathOf = (target: string): string => {
  const end = target.search(/[?#]/);
  return end === -1 ? target : target.slice(0, end);
};

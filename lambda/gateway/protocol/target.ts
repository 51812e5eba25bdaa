import type { Provider } from '../../domain/providers.ts';

/**
 * The path and query for the provider: the client's bytes, neither decoded nor normalised (dots, slashes).
 *
 * It never names a host. An absolute-form target (RFC 9112 section 3.2.2) loses its scheme and authority, and the rest
 * always begins with a slash. `*` (asterisk-form) is forwarded as `/*`.
 */
export const upstreamTarget = (target: string, { prefix = '' }: Pick<Provider, 'prefix'>): string => {
  const path = pathForm(target);
  if (prefix === '') return path;
  const rest = path.startsWith(prefix) ? path[prefix.length] : 'x';
  return rest === undefined || rest === '/' || rest === '?' ? path : prefix + path;
};

/** A target that begins with a slash: see upstreamTarget. */
export const pathForm = (target: string): string => {
  if (target.startsWith('/')) return target;
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target);
  const path = absolute ? target.slice(absolute[0].length) : target;
  return path.startsWith('/') ? path : `/${path}`;
};

const PROVIDER_PATH = /^\/gateway\/([^/?]+)(\/[^?]*)?(\?.*)?$/s;

/** The label and the rest of the path `/gateway/{label}/…`, where no host names the provider. */
export const providerInPath = (target: string): { readonly label: string; readonly target: string } | undefined => {
  const [, label, path, query] = PROVIDER_PATH.exec(target) ?? [];
  return label === undefined ? undefined : { label, target: `${path ?? '/'}${query ?? ''}` };
};

/** The target without its query string, which is never stored. */
export const pathOf = (target: string): string => {
  const end = target.search(/[?#]/);
  return end === -1 ? target : target.slice(0, end);
};

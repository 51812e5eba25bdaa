/**
 * The pages' content security policy. They run only our files, call only our API, cannot be framed, and cannot turn text into
 * markup or script (trusted types). CloudFront and the local stack send the same policy: a page that works on one works on the
 * other.
 *
 * @param apiOrigin the origin of the dashboard API, where it differs from that of the pages
 */
export const contentSecurityPolicy = (apiOrigin?: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self'${apiOrigin === undefined ? '' : ` ${apiOrigin}`}`,
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

/** Turns off browser features that the pages do not use. */
export const PERMISSIONS_POLICY = 'camera=(), geolocation=(), microphone=(), payment=(), usb=()';

/** Files with a content hash in their name never change; browsers revalidate all others. */
export const ASSET_CACHE_CONTROL = 'public, max-age=31536000, immutable';
export const PAGE_CACHE_CONTROL = 'no-cache';

/** The path of a file. Every other path is the application's, which reads it: the id of a session may have a dot. */
export const FILE_PATH = /^\/(assets\/|[^/]*\.[^/]*$)/;

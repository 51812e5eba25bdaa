/**
 * What the pages may do, in the browser's own enforcement: run our files alone, talk to our API alone, be framed by nobody, and
 * turn no text into markup or script (trusted types). One list for CloudFront and for the local stack, so that a page that
 * works here works there.
 *
 * @param apiOrigin where the dashboard API is, if not where the pages are
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

/** Features of the browser that the pages have no use for. */
export const PERMISSIONS_POLICY = 'camera=(), geolocation=(), microphone=(), payment=(), usb=()';

/** Files with a hash of their content in their name never change; everything else is asked for again. */
export const ASSET_CACHE_CONTROL = 'public, max-age=31536000, immutable';
export const PAGE_CACHE_CONTROL = 'no-cache';

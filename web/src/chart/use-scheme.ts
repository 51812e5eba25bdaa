import { useSyncExternalStore } from 'react';

const SCHEME = 'data-mantine-color-scheme';

const subscribe = (onChange: () => void) => {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributeFilter: [SCHEME] });
  return () => observer.disconnect();
};

/** The colour scheme of the page; on paper it is light: see first-paint.js. */
export const useScheme = (): string | null =>
  useSyncExternalStore(subscribe, () => document.documentElement.getAttribute(SCHEME));

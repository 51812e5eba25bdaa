/** The words of the pages are English, so numbers and dates are, too: in the user's English where there is one. */
export const locale = globalThis.navigator?.languages?.find((language) => /^en\b/.test(language)) ?? 'en-US';

/** The words of the pages are English, so numbers and dates are, too: in the user's English where there is one. */
export const locale = globalThis.navigator?.languages?.find((language) => /^en\b/.test(language)) ?? 'en-US';

export type Choice = 'time-zone' | 'currency';

const chosen = (choice: Choice): string | undefined => {
  try {
    return localStorage.getItem(choice) ?? undefined;
  } catch {
    return undefined;
  }
};

/** The time zone that this person reads in, in this browser; undefined for the account's. */
export const chosenZone = chosen('time-zone');

/** Whether this person reads US dollars only, whatever the account's display currency is. */
export const readsDollars = chosen('currency') === 'USD';

/** The visible text and the buttons of a page. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

const attribute = (tag: string, name: string): string | undefined => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];

const unescaped = (text: string): string =>
  text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));

/** The form with the button of that label: its target and its fields. */
const formWith = ({ text, url }: Page, button: string) => {
  for (const [form = ''] of text.matchAll(/<form[\s\S]*?<\/form>/g)) {
    const [, label = ''] = /<button[^>]*>([\s\S]*?)<\/button>/.exec(form) ?? [];
    if (unescaped(label).trim() !== button) continue;
    const fields = new URLSearchParams();
    for (const [tag] of form.matchAll(/<(?:input|button)[^>]*>/g))
      fields.set(attribute(tag, 'name') ?? '', unescaped(attribute(tag, 'value') ?? ''));
    return { action: new URL(attribute(form, 'action') ?? '', url), fields };
  }
  throw new Error(`The page ${url} has no button "${button}".`);
};

const pageOf = async (response: Response, url: string): Promise<Page> => ({
  url,
  status: response.status,
  text: await response.text(),
});

/** Opens a page. */
export const open = async (url: string): Promise<Page> => pageOf(await fetch(url), url);

/**
 * Fills in a form and presses its button. Follows redirects within the host.
 *
 * @returns the next page, or the URL of a redirect to another host
 */
export const press = async (
  page: Page,
  button: string,
  filledIn: Readonly<Record<string, string>> = {},
): Promise<Page & { readonly sentTo: string | undefined }> => {
  const { action, fields } = formWith(page, button);
  for (const [name, value] of Object.entries(filledIn)) fields.set(name, value);
  const response = await fetch(action, { method: 'POST', body: fields, redirect: 'manual' });
  const location = response.headers.get('location');
  if (location === null) return { ...(await pageOf(response, action.href)), sentTo: undefined };
  const target = new URL(location, action);
  if (target.host !== action.host) return { ...(await pageOf(response, action.href)), sentTo: target.href };
  return { ...(await open(target.href)), sentTo: undefined };
};

/** Moves the clock of the local Stripe on. */
export const moveClock = async (localStripe: { readonly url: string }, days: number): Promise<Page> =>
  press(await open(localStripe.url), 'Move the clock', { days: String(days) });

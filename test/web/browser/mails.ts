import { openAnotherTab, type Tab } from './browser.ts';
import { fixture } from './fixture.ts';

/** The text of the latest mail to an address, as the local stack's mail page shows it. @param subject a part of it */
export const readMail = async (tab: Tab, to: string, subject: string): Promise<string> => {
  const { page } = await openAnotherTab(tab);
  await page.goto(fixture().dashboard.stack.mailUrl);
  const mail = page
    .locator('.email')
    .filter({ hasText: `To: ${to}` })
    .filter({ hasText: subject })
    .first();
  await mail.getByRole('button', { name: 'Toggle text view' }).click();
  const shown = mail.locator('.email-text');
  // Hidden, it would be read without its line breaks.
  await shown.waitFor();
  const text = await shown.innerText();
  await page.close();
  return text;
};

/** The code in a mail. */
export const readCode = async (tab: Tab, to: string): Promise<string> =>
  /\d{4} \d{4}/.exec(await readMail(tab, to, 'code'))?.[0] ?? '';

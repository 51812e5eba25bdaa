import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { joinAccount } from '../../dashboard/over-http/stack.ts';
import { newEmail, register, verifyAddress } from '../browser/accounts.ts';
import { desktop, phone, screenshot } from '../browser/browser.ts';
import { fixture, openSignedIn, readApi } from '../browser/fixture.ts';
import { readMail } from '../browser/mails.ts';

describe('an allowance', () => {
  it('is asked for by a developer, approved by another member, and holds', async () => {
    const { dashboard } = fixture();
    const ada = newEmail();
    const owner = await register(dashboard, ada);
    await verifyAddress(dashboard, owner);
    const developer = await joinAccount(dashboard, owner, 'developer', `grace.${newEmail()}`);
    const budget = { name: 'Developers', amount: 200, period: 'monthly', each: 'member', block: {} };
    const { id } = await readApi<{ id: string }>('/budgets', budget, owner);
    const [own, others] = [await openSignedIn(developer), await openSignedIn(owner)];
    // The link of a refused request.
    let page = await own.open(`/access?ask=${id}`);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Amount').fill('150');
    await dialog.getByRole('button', { name: 'Ask for it' }).click();
    await dialog.getByText('More than $200, your limit now.').waitFor();
    await dialog.getByLabel('Amount').fill('300');
    await dialog.getByLabel('Reason').fill('The migration of the billing service');
    await screenshot(page, 'ask-for-more');
    await dialog.getByRole('button', { name: 'Ask for it' }).click();
    await page.getByText('asked for $300').waitFor();
    await screenshot(page, 'my-access', true);

    expect(await readMail(others, ada, 'higher limit')).toContain('The migration of the billing service');
    page = await others.open('/raises');
    await page.getByRole('row', { name: /grace.*\$300 for grace.*The migration/ }).waitFor();
    await screenshot(page, 'raises');
    await page.getByRole('button', { name: 'Approve' }).click();
    await screenshot(page, 'approve-raise');
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await page.getByText(/approved \$300 until/).waitFor();

    page = await own.open('/access');
    await page.getByText('$300.00 remaining').waitFor();
    // The table of sessions below it is a card of its own.
    const paddingBelow = `getComputedStyle(document.querySelector('[aria-label="Key and tools"]')).paddingBottom`;
    expect(await page.evaluate(paddingBelow)).toBe('20px');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('button', { name: 'Ask for more' }).waitFor();

    // More once again, which is denied; and the amount of its role instead of its own.
    await page.getByRole('button', { name: 'Ask for more' }).click();
    await dialog.getByLabel('Amount').fill('400');
    await dialog.getByLabel('Reason').fill('Once again');
    await dialog.getByRole('button', { name: 'Ask for it' }).click();
    await page.getByText('asked for $400').waitFor();
    page = await others.open('/raises');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('row', { name: /\$400 for grace.*denied by/ }).waitFor();
    await screenshot(page, 'raise-denied');

    // The link of a request that the limit of a project refused, in which the developer has a key.
    const { id: ofProjects } = await readApi<{ id: string }>(
      '/budgets',
      { ...budget, name: 'Projects', each: 'project' },
      owner,
    );
    await readApi('/keys', { name: 'laptop' }, developer);
    page = await own.open(`/access?ask=${ofProjects}&value=default`);
    await dialog.getByLabel('Amount').fill('150');
    await dialog.getByLabel('Reason').fill('Everybody waits');
    await dialog.getByRole('button', { name: 'Ask for it' }).click();
    await dialog.getByText('must be more than $200, the limit now').waitFor();
    await screenshot(page, 'ask-for-a-project');
    await dialog.getByLabel('Amount').fill('1500');
    await dialog.getByRole('button', { name: 'Ask for it' }).click();
    await dialog.waitFor({ state: 'hidden' });
    page = await own.open('/raises');
    await page.getByRole('row', { name: /\$1,500 for Default.*pending/ }).waitFor();

    page = await others.open(`/limits/${id}`);
    expect(await page.getByLabel('The amount is for').isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Another amount' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Choose one.').waitFor();
    await page.getByLabel('Role or project 1').selectOption('role:developer');
    await page.getByLabel('Amount 1', { exact: true }).fill('250');
    await page.getByText('Week', { exact: true }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('cannot change with its period, filter and unknownCost: make another budget').waitFor();
    await page.getByText('Month', { exact: true }).click();
    await screenshot(page, 'other-amounts', true);
    await page.setViewportSize(phone.viewport);
    await screenshot(page, 'other-amounts-phone', true);
    await page.setViewportSize(desktop.viewport);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Budget saved.').waitFor();
    page = await others.open(`/limits/${id}`);
    await page.getByRole('button', { name: /^Change the amount of grace/ }).click();
    const amount = page.getByRole('dialog', { name: /^Amount of grace/ });
    await screenshot(page, 'usual-amount');
    await amount.getByRole('button', { name: 'Usual amount' }).click();
    await page.getByRole('row', { name: /grace.*of \$250.00, by its role/ }).waitFor();
  });
});

describe('many people', () => {
  const choose = async (page: Page, project: string) => {
    const field = page.getByRole('dialog').getByRole('combobox', { name: 'Projects' });
    await field.click();
    await page.getByRole('option', { name: project }).click();
    await field.press('Tab');
  };

  it('are invited by pasting a list, and limited to projects', async () => {
    const { dashboard } = fixture();
    const owner = await register(dashboard);
    await verifyAddress(dashboard, owner);
    await readApi('/projects', { name: 'Search' }, owner);
    const member = await joinAccount(dashboard, owner, 'member');
    const { open } = await openSignedIn(owner);
    const page = await open('/members');
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog');
    const [one, two] = [newEmail(), newEmail()];
    await dialog.getByLabel('E-mail').fill(`email,role\n${one}\n${two},viewer\n${member.email}`);
    await dialog.getByLabel('Role', { exact: true }).selectOption('developer');
    await choose(page, 'Search');
    await screenshot(page, 'invite-many');
    await dialog.getByRole('button', { name: 'Send 3 invitations' }).click();
    await dialog.getByText('is a member of this account already.').waitFor();
    await screenshot(page, 'invited-many');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('row', { name: new RegExp(`${one}.*developer.*Search`) }).waitFor();
    await page.getByRole('row', { name: new RegExp(`${two}.*viewer.*Search`) }).waitFor();
    await page.getByRole('button', { name: `Change the projects of ${member.email}` }).click();
    await choose(page, 'Search');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: new RegExp(`${member.email}.*Search`) }).waitFor();
    await screenshot(page, 'members', true);
  });
});

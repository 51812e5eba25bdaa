import { RAISE_DAYS, type Raise } from '../limits/raise.ts';
import { type Mail, plainMail, withoutLinks } from '../mail/mail.ts';
import { usdOf } from '../spend/spend-report.ts';
import { type Message, oneLine } from './message.ts';

/** The page on which raises are decided. */
const raisesPage = (dashboardUrl: string): string => `${dashboardUrl}/raises`;

const askText = ({ askedBy, amount, label, value, budgetName }: Raise): string =>
  oneLine(`${askedBy.name} asks for $${amount} for ${label ?? value} by the limit “${budgetName}”.`);

const useText = ({ usedNanoUsd, limitNanoUsd }: Raise): string => `$${usdOf(usedNanoUsd)} of $${usdOf(limitNanoUsd)}`;

/** To those who may decide. */
export const raiseMail = (raise: Raise, dashboardUrl: string): Mail =>
  plainMail('A member asks for a higher limit', [
    withoutLinks(askText(raise)),
    `Used in this period: ${useText(raise)}.`,
    `Reason: ${withoutLinks(oneLine(raise.reason))}`,
    `Approve or deny it within ${RAISE_DAYS} days:`,
    raisesPage(dashboardUrl),
  ]);

/** The same for the channels of the limit. */
export const raiseMessage = (raise: Raise, dashboardUrl: string): Message => ({
  id: raise.id,
  title: 'A member asks for a higher limit',
  summary: askText(raise),
  facts: [
    { label: 'Used', text: useText(raise) },
    { label: 'Reason', text: oneLine(raise.reason) },
  ],
  links: [{ text: 'Approve or deny it', url: raisesPage(dashboardUrl) }],
  severity: 'info',
  type: 'raise',
  at: raise.askedAt,
  event: { event_type: 'ai_spend_raise', event_payload: { ...raise, url: raisesPage(dashboardUrl) } },
});

/** To the member who asked. */
export const raiseDecidedMail = ({ status, granted, budgetName, decidedBy }: Raise, pageUrl: string): Mail =>
  plainMail(status === 'approved' ? 'Your higher limit is approved' : 'Your higher limit is not approved', [
    withoutLinks(
      oneLine(
        `${decidedBy?.name} ${granted ? `approved $${granted.amount}` : 'denied more'} by the limit “${budgetName}”.`,
      ),
    ),
    ...(granted ? [`It holds until ${granted.until ?? 'somebody changes it'}.`] : []),
    pageUrl,
  ]);

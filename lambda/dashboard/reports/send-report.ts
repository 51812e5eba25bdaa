import { ValidationError } from '../../domain/errors.ts';
import type { ChannelName } from '../../domain/limits/rule.ts';
import { isReportFor } from '../../domain/reports/report.ts';
import { reportMail } from '../../domain/reports/report-mail.ts';
import { reportMessage } from '../../domain/reports/report-message.ts';
import { lastPeriod } from '../../domain/reports/report-period.ts';
import { newRun } from '../../domain/reports/report-run.ts';
import type { Implementation } from '../../http/operation.ts';
import { isDeliveryError, mailMembers, postMessage } from '../../integrations/channels.ts';
import type { Settings } from '../open-settings.ts';
import type { sendReport as operation } from './operations.ts';

/** Sends a report of the period that ended last, once. Nothing is stored. */
export const sendReport =
  (dependencies: Settings): Implementation<typeof operation> =>
  async ({ caller: { accountId, userId }, params: { id }, body: { to } }) => {
    const { reports, users, readContent, sendMail, postWebhook, dashboardUrl, now } = dependencies;
    const report = await reports.find(accountId, id);
    const members = await users.recipients(accountId);
    const me = members.filter((member) => member.userId === userId);
    if (to === 'me' && me.length === 0)
      throw new ValidationError([{ path: 'to', message: 'must be all for an API token, which has no mail address' }]);
    const calendar = await reports.calendar(accountId);
    const at = now();
    const content = await readContent(report, lastPeriod(report.schedule.every, at, calendar), calendar);
    const run = newRun(report, content, at);
    const chosen = members.filter((member) => isReportFor(report, member));

    const send = async (channel: ChannelName): Promise<string | null> => {
      if (channel === 'email') {
        const recipients = to === 'me' ? me : chosen;
        return mailMembers(sendMail, { accountId, recipients, now: at }, reportMail(run, dashboardUrl));
      }
      await postMessage(postWebhook, report, channel, reportMessage(run, dashboardUrl), at);
      return null;
    };
    const trySend = async (channel: ChannelName) => {
      try {
        return { channel, isDelivered: true, error: await send(channel) };
      } catch (error) {
        if (!isDeliveryError(error)) throw error;
        return { channel, isDelivered: false, error: error.message };
      }
    };
    const channels: readonly ChannelName[] = to === 'me' ? ['email'] : report.channels;
    return { items: await Promise.all(channels.map(trySend)) };
  };

import { holidays } from '../../lambda/domain/price/overrides.ts';

/**
 * What to do so that DeepSeek's holidays of next year are known, from 15 December of the list's last year on; null before. A command
 * reports it, and no test fails by the calendar: the build of a commit has to come out the same on every day.
 */
export const holidaysDue = (now: Date): string | null => {
  const lastYear = Math.max(...[...holidays].map((day) => Number(day.slice(0, 4))));
  if (now.getTime() < Date.UTC(lastYear, 11, 15)) return null;
  return `Add the public holidays of ${lastYear + 1} on weekdays to lambda/domain/price/overrides.ts. The State Council publishes them each November (gov.cn, 国务院办公厅关于${lastYear + 1}年部分节假日安排的通知). Check at https://api-docs.deepseek.com/quick_start/pricing that they still have no peak.`;
};

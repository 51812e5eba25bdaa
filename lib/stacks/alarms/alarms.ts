import type { RunbookAlarm } from '../../constructs/alarm-topic.ts';
import type { Monitored } from '../monitored.ts';
import { alertAlarms } from './alert-alarms.ts';
import { billingAlarms } from './billing-alarms.ts';
import { gatewayAlarms } from './gateway-alarms.ts';
import { platformAlarms } from './platform-alarms.ts';
import { scheduledAlarms } from './scheduled-alarms.ts';
import { usageAlarms } from './usage-alarms.ts';

/** Every alarm. `section` is the anchor of a heading of docs/runbook.md; a test compares them. */
export const alarms = (monitored: Monitored): readonly RunbookAlarm[] => [
  ...gatewayAlarms(monitored),
  ...usageAlarms(monitored),
  ...alertAlarms(),
  ...billingAlarms(),
  ...scheduledAlarms(monitored),
  ...platformAlarms(monitored),
];

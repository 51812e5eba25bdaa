import { Mail, SlidersHorizontal, Webhook } from 'lucide-react';
import type { AlertRule } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { ItemList, ItemRow } from '../forms/item-list.tsx';
import { scopeText } from '../scope/scope.ts';
import type { KeyNames } from '../spend/groups.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { channelNames } from './channels.ts';
import { valuesOf } from './rule-form.ts';
import { periodLabels, ruleTypes } from './rule-types.ts';
import classes from './rules.module.css';

/** A rule in one line: `$50 or more a day, of OpenAI, tag batch`. */
const sentence = (rule: AlertRule, keyNames: KeyNames): string => {
  const values = valuesOf(rule);
  const { period } = values;
  const each = `${period === 'hourly' ? 'an' : 'a'} ${periodLabels[period].toLowerCase()}`;
  const what = ruleTypes[rule.type].sentence(values, each);
  const only = scopeText(rule.config['filter'], keyNames);
  return only === '' ? what : `${what}, of ${only}`;
};

const RuleRow = ({ rule }: { readonly rule: AlertRule }) => (
  <ItemRow
    collection="/alert-rules"
    item={rule}
    link={{ to: '/rules/$ruleId', params: { ruleId: rule.id } }}
    about={sentence(rule, useKeyNames())}
  >
    <span className={classes['kind']}>{ruleTypes[rule.type].name}</span>
    <span className={classes['channels']}>
      {rule.channels.map((channel) => {
        const Icon = channel === 'email' ? Mail : Webhook;
        const name = channel === 'email' ? 'e-mail' : channelNames[channel];
        return <Icon key={channel} size={16} aria-label={`by ${name}`} role="img" />;
      })}
    </span>
  </ItemRow>
);

export const Rules = () => (
  <ItemList
    collection="/alert-rules"
    query={useApi().useQuery('get', '/alert-rules')}
    about="Rules check your spend every minute and notify you. You can test a rule on the last 30 days before you save it."
    empty={{
      icon: SlidersHorizontal,
      text: 'Most accounts start with a daily limit: it reports a runaway loop within a minute, not at the end of the month.',
      action: 'Set a daily limit',
    }}
    row={(rule) => <RuleRow key={rule.id} rule={rule} />}
  />
);

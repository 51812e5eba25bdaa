import { Skeleton, Switch } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronRight, Mail, Plus, SlidersHorizontal, Webhook } from 'lucide-react';
import type { AlertRule } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { Heading } from '../components/heading.tsx';
import { ButtonLink } from '../components/links.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { notifyProblem } from '../components/notify.ts';
import { scopeText } from '../scope/scope.ts';
import { useMe } from '../session/permissions.ts';
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

const RuleRow = ({ rule, keyNames }: { readonly rule: AlertRule; readonly keyNames: KeyNames }) => {
  const queryClient = useQueryClient();
  const { may } = useMe();
  const update = useApi().useMutation('patch', '/alert-rules/{id}', {
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['get', '/alert-rules'] }),
    onError: notifyProblem('The rule was not changed'),
  });
  return (
    <li className={classes['rule']} data-off={!rule.isActive || undefined}>
      <Switch
        withThumbIndicator={false}
        disabled={!may('rules:write')}
        checked={update.isPending ? (update.variables.body.isActive ?? rule.isActive) : rule.isActive}
        aria-label={`${rule.name} is on`}
        onChange={({ currentTarget }) =>
          update.mutate({ params: { path: { id: rule.id } }, body: { isActive: currentTarget.checked } })
        }
      />
      <Link to="/rules/$ruleId" params={{ ruleId: rule.id }} className={classes['rule-text']}>
        <strong>{rule.name}</strong>
        <span className="dim small">{sentence(rule, keyNames)}</span>
      </Link>
      <span className={classes['kind']}>{ruleTypes[rule.type].name}</span>
      <span className={classes['channels']}>
        {rule.channels.includes('email') && <Mail size={16} aria-label="by e-mail" role="img" />}
        {rule.channels
          .filter((channel) => channel !== 'email')
          .map((channel) => (
            <Webhook key={channel} size={16} aria-label={`by ${channelNames[channel]}`} role="img" />
          ))}
      </span>
      <ChevronRight size={16} className="dim" aria-hidden />
    </li>
  );
};

export const Rules = () => {
  const keyNames = useKeyNames();
  const { may } = useMe();
  const query = useApi().useQuery('get', '/alert-rules');
  const { data, error } = query;
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <Heading>Rules</Heading>
          <p>
            Rules check your spend every minute and notify you. You can test a rule on the last 30 days before you save
            it.
          </p>
        </div>
        {may('rules:write') && (
          <ButtonLink to="/rules/new" leftSection={<Plus size={16} />}>
            New rule
          </ButtonLink>
        )}
      </div>
      <LoadProblem query={query} title="The rules could not be loaded" />
      {!data && !error && <Skeleton height={220} radius="lg" />}
      {data?.items.length === 0 && (
        <section className="card">
          <EmptyState
            icon={SlidersHorizontal}
            title="No rules yet"
            action={
              may('rules:write') && (
                <ButtonLink variant="light" size="xs" to="/rules/new">
                  Set a daily limit
                </ButtonLink>
              )
            }
          >
            Most accounts start with a daily limit: it reports a runaway loop within a minute, not at the end of the
            month.
          </EmptyState>
        </section>
      )}
      {data && data.items.length > 0 && (
        <ul className={`card ${classes['rules']}`}>
          {data.items.map((rule) => (
            <RuleRow key={rule.id} rule={rule} keyNames={keyNames} />
          ))}
        </ul>
      )}
    </div>
  );
};

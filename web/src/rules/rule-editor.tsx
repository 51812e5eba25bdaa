import { Button, Group, Modal, Radio, Skeleton, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ArrowLeft, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import type { RuleType } from '../../../lambda/domain/alert-rules/rule.ts';
import { otherErrors } from '../account/fields.ts';
import type { AlertRule } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { Heading } from '../components/heading.tsx';
import { AnchorLink } from '../components/links.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { Unsaved } from '../components/unsaved.tsx';
import { SetByApi } from '../forms/set-by-api.tsx';
import { useReload, useSave } from '../forms/use-save.ts';
import { useMe } from '../session/permissions.ts';
import { BacktestCard } from './backtest-card.tsx';
import { RuleFields } from './rule-fields.tsx';
import { bodyOf, emptyRule, type RuleValues, ruleProblems, valuesOf, WHOLE, withType } from './rule-form.ts';
import { ruleTypeList, ruleTypes } from './rule-types.ts';
import classes from './rules.module.css';
import type { RuleSearch } from './search.ts';
import { TestChannels } from './test-channels.tsx';

const BackLink = () => (
  <AnchorLink to="/rules" size="sm" className={classes['back']}>
    <ArrowLeft size={14} aria-hidden /> All rules
  </AnchorLink>
);

const DeleteButton = ({ rule }: { readonly rule: AlertRule }) => {
  const navigate = useNavigate();
  const reloadRules = useReload('/alert-rules');
  const [asking, setAsking] = useState(false);
  const remove = useApi().useMutation('delete', '/alert-rules/{id}', {
    onSuccess: async () => {
      notifyDone(`${rule.name} deleted.`);
      await reloadRules();
      await navigate({ to: '/rules' });
    },
    onError: reloadRules,
  });
  return (
    <>
      <Button variant="subtle" color="red" leftSection={<Trash2 size={15} />} onClick={() => setAsking(true)}>
        Delete
      </Button>
      <Modal opened={asking} onClose={() => setAsking(false)} title="Delete this rule?">
        <Stack>
          <p className="small">It stops checking your spend. Its alerts are kept.</p>
          {remove.isError && <ProblemNote error={remove.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsking(false)}>
              Cancel
            </Button>
            <Button
              color="red"
              loading={remove.isPending}
              onClick={() => remove.mutate({ params: { path: { id: rule.id } } })}
            >
              Delete the rule
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
};

/** A rule as a page that links here proposes it. */
const newRule = ({ type, ...filter }: RuleSearch = {}): RuleValues => ({
  ...emptyRule(ruleTypeList.find((each) => each.type === type)?.type ?? 'cost_threshold'),
  ...filter,
});

const Editor = ({ rule, filter }: { readonly rule?: AlertRule; readonly filter?: RuleSearch }) => {
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string>();
  const form = useForm<RuleValues>({
    initialValues: rule ? valuesOf(rule) : newRule(filter),
    validate: ruleProblems as never,
  });
  const isDone = useRef(false);
  const leave = () => {
    isDone.current = true;
    void navigate({ to: '/rules' });
  };
  const { may } = useMe();
  const { save, error, isPending } = useSave({
    collection: '/alert-rules',
    id: rule?.id,
    noun: 'Rule',
    form,
    bodyOf,
    whole: WHOLE,
    onSaved: (given) => {
      isDone.current = true;
      if (given) setSecret(given);
      else leave();
    },
  });
  const choose = (next: string) => {
    form.setValues(withType(form.values, next as RuleType));
    form.clearErrors();
  };
  const fields = Object.keys(form.values);
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <BackLink />
          <Heading>{rule ? rule.name : 'New rule'}</Heading>
        </div>
      </div>
      <div className={classes['editor']}>
        <form noValidate className="card card-pad" onSubmit={form.onSubmit(save)}>
          <Stack gap="lg">
            {rule ? (
              <p className="dim small">{ruleTypes[rule.type].what}</p>
            ) : (
              <Radio.Group label="Notify me about" value={form.values.type} onChange={choose}>
                <div className={classes['types']}>
                  {ruleTypeList.map(({ type, name, what }) => (
                    <Radio.Card key={type} value={type} className={classes['type']}>
                      <Radio.Indicator />
                      <span>
                        <strong>{name}</strong>
                        <span className="dim small">{what}</span>
                      </span>
                    </Radio.Card>
                  ))}
                </div>
              </Radio.Group>
            )}
            <RuleFields form={form} />
            {rule && <SetByApi item={rule} shown={bodyOf(valuesOf(rule))} />}
            {error && (
              <ProblemNote error={error} details={otherErrors(error, ...fields)} title="The rule was not saved" />
            )}
            {may('rules:write') ? (
              <Group justify="space-between">
                <Group>
                  <Button type="submit" loading={isPending}>
                    {rule ? 'Save' : 'Create the rule'}
                  </Button>
                  <Button variant="default" onClick={leave}>
                    Cancel
                  </Button>
                </Group>
                {rule && (
                  <Group>
                    <TestChannels stored={rule} />
                    <DeleteButton rule={rule} />
                  </Group>
                )}
              </Group>
            ) : (
              <p className="dim small">Your role reads rules. Members and admins change them.</p>
            )}
          </Stack>
        </form>
        <div className={classes['preview']}>
          <BacktestCard values={form.values} />
        </div>
      </div>
      <Unsaved isDirty={() => form.isDirty() && !isDone.current} />
      <Modal opened={secret !== undefined} onClose={leave} title="The webhook’s secret">
        {secret && (
          <ShownOnce secret={secret} what="secret" onClose={leave}>
            Webhooks are signed with this secret, so that you can verify them. It is shown only once.
          </ShownOnce>
        )}
      </Modal>
    </div>
  );
};

export const NewRule = () => <Editor filter={getRouteApi('/members/rules/new').useSearch()} />;

export const EditRule = () => {
  const { ruleId } = getRouteApi('/members/rules/$ruleId').useParams();
  const query = useApi().useQuery('get', '/alert-rules');
  const { data } = query;
  const rule = data?.items.find(({ id }) => id === ruleId);
  if (rule) return <Editor key={rule.id} rule={rule} />;
  return (
    <div className="page">
      <BackLink />
      <LoadProblem query={query} title="The rule could not be loaded" />
      {data ? (
        <EmptyState icon={Trash2} title="Rule not found">
          It may have been deleted.
        </EmptyState>
      ) : (
        <Skeleton height={420} radius="lg" />
      )}
    </div>
  );
};

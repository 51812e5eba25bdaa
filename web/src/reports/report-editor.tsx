import { Badge, Button, Group, Modal, Skeleton, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ArrowLeft, Trash2 } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { otherErrors } from '../account/fields.ts';
import type { Report, ReportWithRuns } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Confirm, type Question } from '../components/confirm.tsx';
import { Heading } from '../components/heading.tsx';
import { AnchorLink } from '../components/links.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { notifySent, SendButton } from '../components/send-button.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { Unsaved } from '../components/unsaved.tsx';
import { formatInstant } from '../format/time.ts';
import { SetByApi } from '../forms/set-by-api.tsx';
import { useReload, useSave } from '../forms/use-save.ts';
import { channelNames } from '../rules/channels.ts';
import ruleClasses from '../rules/rules.module.css';
import { useMe } from '../session/permissions.ts';
import { ReportFields } from './report-fields.tsx';
import { bodyOf, emptyReport, type ReportValues, reportProblems, reportText, valuesOf, WHOLE } from './report-form.ts';

const DeleteButton = ({ report: { id, name } }: { readonly report: Report }) => {
  const navigate = useNavigate();
  const reload = useReload('/reports');
  const [asking, setAsking] = useState<Question>();
  const remove = useApi().useMutation('delete', '/reports/{id}', {
    onSuccess: async () => {
      notifyDone(`${name} deleted.`);
      await navigate({ to: '/reports', ignoreBlocker: true });
      await reload();
    },
    onError: notifyProblem('The report was not deleted'),
  });
  const ask = () =>
    setAsking({
      title: 'Delete this report?',
      text: 'It is not sent any more.',
      action: 'Delete the report',
      onConfirm: () => remove.mutate({ params: { path: { id } } }),
    });
  return (
    <>
      <Button variant="subtle" color="red" leftSection={<Trash2 size={15} />} loading={remove.isPending} onClick={ask}>
        Delete
      </Button>
      <Confirm question={asking} onClose={() => setAsking(undefined)} />
    </>
  );
};

const ReportForm = ({ report }: { readonly report?: Report }) => {
  const navigate = useNavigate();
  const { may } = useMe();
  const [secret, setSecret] = useState<string>();
  const form = useForm<ReportValues>({
    initialValues: report ? valuesOf(report) : emptyReport,
    validate: reportProblems as never,
  });
  const isDone = useRef(false);
  const leave = () => {
    isDone.current = true;
    void navigate({ to: '/reports' });
  };
  const fields = Object.keys(form.values);
  const { save, error, isPending } = useSave({
    collection: '/reports',
    id: report?.id,
    noun: 'Report',
    form,
    bodyOf,
    whole: WHOLE,
    onSaved: (given) => {
      isDone.current = true;
      if (given) setSecret(given);
      else leave();
    },
  });
  return (
    <form noValidate className="card card-pad" onSubmit={form.onSubmit(save)}>
      <Stack gap="lg">
        <ReportFields form={form} />
        {report && <SetByApi item={report} shown={bodyOf(valuesOf(report))} />}
        {error && (
          <ProblemNote error={error} details={otherErrors(error, ...fields)} title="The report was not saved" />
        )}
        {may('rules:write') && (
          <Group justify="space-between">
            <Group>
              <Button type="submit" loading={isPending}>
                {report ? 'Save' : 'Create the report'}
              </Button>
              <Button variant="default" onClick={leave}>
                Cancel
              </Button>
            </Group>
            {report && <DeleteButton report={report} />}
          </Group>
        )}
      </Stack>
      <Unsaved isDirty={() => form.isDirty() && !isDone.current} />
      <Modal opened={secret !== undefined} onClose={leave} title="The webhook’s secret">
        {secret && (
          <ShownOnce secret={secret} what="secret" onClose={leave}>
            Webhooks are signed with this secret, so that you can verify them. It is shown only once.
          </ShownOnce>
        )}
      </Modal>
    </form>
  );
};

const statusColors = { sent: 'teal', pending: 'yellow', failed: 'red' } as const;

/** What was sent lately, and how each channel took it. */
const Runs = ({ runs }: Pick<ReportWithRuns, 'runs'>) => (
  <Stack gap="sm">
    {runs.length === 0 && <p className="dim small">Nothing yet.</p>}
    {runs.map(({ firstDay, createdAt, deliveries }) => (
      <div key={`${firstDay}${createdAt}`}>
        <strong>{firstDay}</strong> <span className="dim small">made {formatInstant(createdAt)}</span>
        {deliveries.map(({ channel, status, error }) => (
          <div key={channel} className="small">
            <Badge size="sm" variant="light" color={statusColors[status]} tt="none">
              {status}
            </Badge>{' '}
            {channelNames[channel]}
            {error && <span className="dim">: {error}</span>}
          </div>
        ))}
      </div>
    ))}
  </Stack>
);

const SendNow = ({ report: { id } }: { readonly report: Report }) => {
  const send = useApi().useMutation('post', '/reports/{id}/send', {
    onSuccess: notifySent,
    onError: notifyProblem('The report was not sent'),
  });
  const sendTo = (to: 'me' | 'all') => send.mutate({ params: { path: { id } }, body: { to } });
  return (
    <Group>
      <SendButton label="Send me one now" isPending={send.isPending} onClick={() => sendTo('me')} />
      <SendButton label="Send to all" isPending={send.isPending} onClick={() => sendTo('all')} />
    </Group>
  );
};

const Side = ({
  title,
  about,
  children,
}: {
  readonly title: string;
  readonly about?: string;
  readonly children: ReactNode;
}) => (
  <section className="card card-pad" aria-label={title}>
    <Stack gap="sm">
      <h2 className="section-title">{title}</h2>
      {about && <p className="dim small">{about}</p>}
      {children}
    </Stack>
  </section>
);

const BackLink = () => (
  <AnchorLink to="/reports" size="sm" className={ruleClasses['back']}>
    <ArrowLeft size={14} aria-hidden /> All reports
  </AnchorLink>
);

export const NewReport = () => (
  <div className="page">
    <div className="page-head">
      <div>
        <BackLink />
        <Heading>New report</Heading>
        <p>It is sent from the end of the current period on.</p>
      </div>
    </div>
    <ReportForm />
  </div>
);

export const EditReport = () => {
  const { reportId } = getRouteApi('/members/reports/$reportId').useParams();
  const { may } = useMe();
  const query = useApi().useQuery('get', '/reports/{id}', { params: { path: { id: reportId } } });
  const { data: report, error } = query;
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <BackLink />
          <Heading>{report?.name ?? 'Report'}</Heading>
          {report && <p>{reportText(report)}</p>}
        </div>
      </div>
      <LoadProblem query={query} title="The report could not be loaded" />
      {!report && !error && <Skeleton height={420} radius="lg" />}
      {report && (
        <div className={ruleClasses['editor']}>
          <ReportForm key={report.id} report={report} />
          <div className={ruleClasses['preview']}>
            <Stack>
              {may('rules:write') && (
                <Side title="Send now" about="The report of the last period that is over, as it is saved.">
                  <SendNow report={report} />
                </Side>
              )}
              <Side title="Sent lately">
                <Runs runs={report.runs} />
              </Side>
            </Stack>
          </div>
        </div>
      )}
    </div>
  );
};

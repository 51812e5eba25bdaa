import { Button, Skeleton } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import type { RequestSummary } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { Copying } from '../components/copy.tsx';
import { Heading } from '../components/heading.tsx';
import { ButtonLink } from '../components/links.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { formatDuration, formatWhole } from '../format/quantity.ts';
import { useOwnKey } from '../keys/use-own-key.ts';
import { providerName } from '../providers/providers.ts';
import { SdkSnippet } from '../providers/sdk-snippet.tsx';
import classes from './first-run.module.css';
import { useFirstRequest } from './use-first-request.ts';

const Arrived = ({ request }: { readonly request: RequestSummary }) => {
  const queryClient = useQueryClient();
  return (
    <output className={classes['arrived']}>
      <CircleCheck size={22} aria-hidden />
      <div>
        <strong>Your first request is here.</strong>
        <p>
          {providerName(request.provider)} {request.model ?? request.path}
          {request.inputTokens !== null && request.outputTokens !== null && (
            <>
              {' '}
              · {formatWhole(request.inputTokens)} tokens in, {formatWhole(request.outputTokens)} out
            </>
          )}{' '}
          · {formatDuration(request.totalMs)} · <Money nano={request.costNanoUsd} />
        </p>
      </div>
      <span className={classes['next']}>
        <ButtonLink size="xs" variant="default" to="/requests/$requestId" params={{ requestId: request.requestId }}>
          Look at it
        </ButtonLink>
        <Button size="xs" onClick={() => void queryClient.invalidateQueries()}>
          Open the overview
        </Button>
      </span>
    </output>
  );
};

/** An account without traffic: its key, what to change in an SDK, and the first request as soon as it lands. */
const FirstRun = () => {
  const serviceKey = useOwnKey();
  const { request, error } = useFirstRequest();
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <Heading>Send your first request</Heading>
          <p>
            Two changes to the SDK you already use: its address, and one header. Your provider key stays where it is.
          </p>
        </div>
      </div>
      <ol className={`card ${classes['steps']}`}>
        <li>
          <h2>Your service key</h2>
          <p className="dim small">It says whose spend a request is. Keep it as you keep other secrets.</p>
          {serviceKey ? (
            <div className={classes['key']}>
              <code className="mono truncate">{serviceKey}</code>
              <Copying value={serviceKey} label="Copy the key" />
            </div>
          ) : (
            <Skeleton height={42} />
          )}
        </li>
        <li>
          <h2>Point an SDK at the gateway</h2>
          <p className="dim small">
            What is marked is new. Everything else stays as it was, also streaming and errors.
          </p>
          {serviceKey ? <SdkSnippet serviceKey={serviceKey} /> : <Skeleton height={220} />}
        </li>
        <li>
          <h2>Watch it arrive</h2>
          {request ? (
            <Arrived request={request} />
          ) : (
            <div className={classes['waiting']} role="status">
              <span className={classes['pulse']} aria-hidden="true" />
              Waiting for the first request. This page notices by itself, some seconds after the answer.
            </div>
          )}
          {error !== null && !request && <ProblemNote error={error} />}
        </li>
      </ol>
    </div>
  );
};

export default FirstRun;

import { Alert, Button, Group, Loader, Skeleton, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import type { RequestSummary } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Money } from '../components/amount.tsx';
import { CopyToClipboard } from '../components/copy.tsx';
import { ButtonLink, Page, ProblemNote, Section } from '../components/page.tsx';
import { formatDuration, formatWhole } from '../format/numbers.ts';
import { providerName } from '../providers/names.ts';
import { SdkSnippet, useOwnKey } from '../providers/sdk-snippet.tsx';

/** Poll intervals: short at first, longer later. A hidden tab does not poll. */
const FIRST_MS = 1_500;
const LONGEST_MS = 20_000;
const GROWTH = 1.15;

const Arrived = ({ request }: { readonly request: RequestSummary }) => {
  const queryClient = useQueryClient();
  return (
    <Alert
      component="output"
      display="block"
      mt={10}
      color="teal"
      icon={<CircleCheck size={22} />}
      title="Your first request has arrived."
    >
      <Group justify="space-between">
        <span>
          {providerName(request.provider)} {request.model ?? request.path}
          {request.inputTokens !== null && request.outputTokens !== null && (
            <>
              {' '}
              · {formatWhole(request.inputTokens)} tokens in, {formatWhole(request.outputTokens)} out
            </>
          )}{' '}
          · {formatDuration(request.totalMs)} · <Money nano={request.costNanoUsd} />
        </span>
        <Group gap={8}>
          <ButtonLink size="xs" variant="default" to="/requests/$requestId" params={{ requestId: request.requestId }}>
            View details
          </ButtonLink>
          <Button size="xs" onClick={() => void queryClient.invalidateQueries()}>
            Open the overview
          </Button>
        </Group>
      </Group>
    </Alert>
  );
};

/** For an account without traffic: its key, the change to an SDK, and the first request as soon as it arrives. */
const FirstRun = () => {
  const serviceKey = useOwnKey();
  const { data, error } = useApi().useQuery(
    'get',
    '/requests',
    { params: { query: { limit: 1 } } },
    {
      // Until the account has a request.
      refetchInterval: ({ state: { data: seen, dataUpdateCount, errorUpdateCount } }) =>
        !seen?.items[0] && Math.min(LONGEST_MS, FIRST_MS * GROWTH ** (dataUpdateCount + errorUpdateCount)),
      staleTime: 0,
    },
  );
  const request = data?.items[0];
  return (
    <Page
      title="Send your first request"
      about="Change two settings of the SDK you already use: its base URL and one header. Your provider key stays where it is."
    >
      <Section isWide title="1. Your service key" about="It attributes requests to your account. Keep it secret.">
        {serviceKey ? (
          <div className="secret">
            <Text component="code" inherit truncate className="mono">
              {serviceKey}
            </Text>
            <CopyToClipboard value={serviceKey} label="Copy the key" />
          </div>
        ) : (
          <Skeleton height={42} />
        )}
      </Section>
      <Section
        isWide
        title="2. Point an SDK at the gateway"
        about="The marked lines are new. Everything else stays the same, including streaming and errors."
      >
        {serviceKey ? <SdkSnippet serviceKey={serviceKey} /> : <Skeleton height={220} />}
      </Section>
      <Section isWide title="3. Watch it arrive" about="It appears here a few seconds after its response.">
        {request ? (
          <Arrived request={request} />
        ) : (
          <Group role="status" mih={48} gap={14} wrap="nowrap" className="dim small">
            <Loader size={16} aria-hidden />
            Waiting for the first request.
          </Group>
        )}
        {error !== null && !request && <ProblemNote error={error} />}
      </Section>
    </Page>
  );
};

export default FirstRun;

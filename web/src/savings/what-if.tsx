import { Button, Group, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useApi } from '../app.ts';
import { Instant, Money } from '../components/amount.tsx';
import { Card, ProblemNote } from '../components/page.tsx';
import { plural } from '../format/quantity.ts';

const tiers = ['batch', 'flex', 'priority', 'standard'] as const;

interface ReadInPartProps {
  readonly of: { readonly isComplete: boolean; readonly from: string };
}

/** Says that figures are of a part of the requests. */
export const ReadInPart = ({ of: { isComplete, from } }: ReadInPartProps) =>
  !isComplete && (
    <p className="dim small">
      Not all requests could be read, since they are too many or of another version: these are the newest, from{' '}
      <Instant iso={from} /> on.
    </p>
  );

/** Prices requests of the last 30 days again, with another model or tier. */
export const WhatIf = () => {
  const form = useForm({ initialValues: { tag: '', model: '', tier: null as (typeof tiers)[number] | null } });
  const { mutate, data, error, isPending } = useApi().useMutation('post', '/spend/what-if');
  const price = ({ tag, model, tier }: typeof form.values) =>
    mutate({ body: { filter: tag ? { tag } : {}, change: { ...(model && { model }), ...(tier && { tier }) } } });
  return (
    <Card
      title="What if"
      about="The same requests of the last 30 days, priced again with another model of their provider, or another service tier."
    >
      <form onSubmit={form.onSubmit(price)}>
        <Group align="end" mt={10}>
          <TextInput label="Tag" placeholder="all" {...form.getInputProps('tag')} />
          <TextInput label="Model" {...form.getInputProps('model')} />
          <Select label="Service tier" placeholder="as it was" clearable data={tiers} {...form.getInputProps('tier')} />
          <Button type="submit" loading={isPending} disabled={!form.values.model && !form.values.tier}>
            Price again
          </Button>
        </Group>
      </form>
      {error && <ProblemNote error={error} title="The requests could not be priced again" />}
      {data && (
        <>
          <ReadInPart of={data} />
          <p>
            {plural(data.requests, 'request')}: <Money nano={data.oldNanoUsd} /> before,{' '}
            <Money nano={data.newNanoUsd} /> after, <Money as="change" nano={data.differenceNanoUsd} />.
          </p>
          <p className="dim small">
            The tokens are the same. With its own tokens for the same text, the model costs{' '}
            <Money nano={data.sameText.leastNanoUsd} /> to <Money nano={data.sameText.mostNanoUsd} />.
            {data.incomparable.map(({ reason, requests }) => (
              <span key={reason}>
                {' '}
                {plural(requests, 'request')} left out: {reason}
              </span>
            ))}
          </p>
        </>
      )}
    </Card>
  );
};

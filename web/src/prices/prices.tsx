import { Alert, Badge, Button, Group, Modal } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Plus, Tags } from 'lucide-react';
import { useState } from 'react';
import type { OwnPrice, OwnPrices } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Instant, Money } from '../components/amount.tsx';
import { Confirm, type Question } from '../components/confirm.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { AnchorLink } from '../components/links.tsx';
import { ListPage } from '../components/list-page.tsx';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { ScrollRegion } from '../components/scroll-region.tsx';
import { formatRate } from '../format/money.ts';
import { plural } from '../format/quantity.ts';
import { collections } from '../forms/collections.ts';
import { useReload } from '../forms/use-save.ts';
import { useMe } from '../session/permissions.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { CurrencySection } from './display-currency.tsx';
import { PriceEditor } from './price-editor.tsx';
import { newPrice, type PriceValues } from './price-form.ts';
import { kindTexts, periodText, priceScopeText, termsText } from './price-texts.ts';
import { usePrices } from './use-prices.ts';

/** What a price did in its newest month, where it depends on the sums of a month. */
const MonthState = ({ price: { months, terms } }: { readonly price: OwnPrice }) => {
  const [month] = months;
  if (!month) return null;
  const sum = Number(month.sum);
  const text = {
    commitment: month.isShared
      ? `${formatRate(sum / 1e9)} shared by the requests of ${month.month}`
      : `no request of ${month.month} shares it: it is in no cost`,
    credit: `paid ${formatRate(sum / 1e9)} in ${month.month}`,
    volume: `costs of ${month.month} × ${month.factor}`,
  }[terms.kind as 'commitment' | 'credit' | 'volume'];
  return (
    <span className={`small ${month.isShared ? 'dim' : 'unknown'}`}>
      {text}
      {!month.isFinal && ' (so far)'}
    </span>
  );
};

/** Months that are being priced again, or what the last time changed. */
const Repricing = ({ prices: { repricing, lastRepricing } }: { readonly prices: OwnPrices }) => {
  if (repricing && repricing.months.length > 0)
    return (
      <Alert color="blue" variant="light">
        Requests of {repricing.months.join(', ')} are being priced again: {plural(repricing.changed, 'request')} changed
        so far.
      </Alert>
    );
  if (!lastRepricing) return null;
  const { at, changed, differenceNanoUsd, failed } = lastRepricing;
  return (
    <p className="dim small">
      Priced again <Instant iso={at} />: {plural(changed, 'request')} changed
      {changed > 0 && (
        <>
          , by <Money nano={differenceNanoUsd} />
        </>
      )}
      .{failed > 0 && <span className="unknown"> {plural(failed, 'request')} could not be priced again.</span>}
    </p>
  );
};

const PriceRow = ({
  price,
  onEdit,
  onAsk,
}: {
  readonly price: OwnPrice;
  readonly onEdit: () => void;
  readonly onAsk: (question: Question) => void;
}) => {
  const { may } = useMe();
  const names = useKeyNames();
  const reload = useReload('/prices');
  const { id, name, terms } = price;
  const remove = useApi().useMutation('delete', '/prices/{id}', {
    onSuccess: () => notifyDone(`${name} deleted.`),
    onError: notifyProblem('The price was not deleted'),
    onSettled: () => reload(),
  });
  const ask = () =>
    onAsk({
      title: 'Delete this price?',
      text: collections['/prices'].afterDeletion,
      action: 'Delete',
      onConfirm: () => remove.mutate({ params: { path: { id } } }),
    });
  return (
    <tr>
      <td>
        {name}{' '}
        <Badge variant="default" tt="none">
          {kindTexts[terms.kind]}
        </Badge>
        <br />
        <span className="dim small">{termsText(terms)}</span>
        <span className="small narrow-only">
          <br />
          {priceScopeText(price, names)}
        </span>
      </td>
      <td className="wide-only">{priceScopeText(price, names)}</td>
      <td>
        {periodText(price)}
        <br />
        <MonthState price={price} />
      </td>
      <td className="right">
        {may('prices:write') && (
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            <Button size="compact-xs" variant="subtle" aria-label={`Edit ${name}`} onClick={onEdit}>
              Edit
            </Button>
            <Button size="compact-xs" variant="subtle" color="red" aria-label={`Delete ${name}`} onClick={ask}>
              Delete
            </Button>
          </Group>
        )}
      </td>
    </tr>
  );
};

interface Edited {
  readonly price?: OwnPrice;
  readonly initial: PriceValues;
}

export const Prices = () => {
  const { may } = useMe();
  const search = getRouteApi('/members/prices').useSearch();
  const navigate = getRouteApi('/members/prices').useNavigate();
  const query = usePrices();
  const { data } = query;
  const [edited, setEdited] = useState<Edited | undefined>(
    search.model === undefined ? undefined : { initial: newPrice(search.model, search.provider) },
  );
  const [asking, setAsking] = useState<Question>();
  const close = () => {
    setEdited(undefined);
    void navigate({ search: {}, replace: true });
  };
  const add = may('prices:write') && (
    <Button leftSection={<Plus size={16} />} onClick={() => setEdited({ initial: newPrice() })}>
      New price
    </Button>
  );
  return (
    <ListPage
      title="Prices"
      about={
        <>
          What you really pay: rates, discounts, commitments, credits. Everything else has its list price, which{' '}
          <AnchorLink to="/price-changes" underline="always" inherit>
            changes by itself
          </AnchorLink>
          .
        </>
      }
      actions={add}
      query={query}
      things="prices"
      empty={
        data?.items.length === 0 && (
          <EmptyState icon={Tags} title="No prices of your own">
            All requests are charged at list price. Add what your contract says, or the price of a model nobody lists.
          </EmptyState>
        )
      }
    >
      {data && <Repricing prices={data} />}
      {data && data.items.length > 0 && (
        <ScrollRegion className="card scroll-x" label="Prices">
          <table className="grid-table">
            <thead>
              <tr>
                <th>Price</th>
                <th className="wide-only">For</th>
                <th>Holds (UTC)</th>
                <th className="right">Actions</th>
              </tr>
            </thead>
            <tbody>
              {data.items.map((price) => (
                <PriceRow
                  key={price.id}
                  price={price}
                  onEdit={() => setEdited({ price, initial: newPrice() })}
                  onAsk={setAsking}
                />
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
      {data && <CurrencySection key={JSON.stringify(data.currency)} currency={data.currency} />}
      <Modal
        opened={edited !== undefined && may('prices:write')}
        onClose={close}
        size="lg"
        title={edited?.price ? edited.price.name : 'New price'}
      >
        {edited && <PriceEditor {...edited} onClose={close} />}
      </Modal>
      <Confirm question={asking} onClose={() => setAsking(undefined)} />
    </ListPage>
  );
};

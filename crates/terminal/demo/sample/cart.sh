# What a customer pays, in whole cents.

# total QUANTITY PRICE
total() {
  local sum=$(( $1 * $2 ))
  if [ "$1" -gt 10 ]; then
    sum=$(( sum - sum / 10 ))
  fi
  echo "$sum"
}
